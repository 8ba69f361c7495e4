import { EngineError } from '@engine/domain';

export interface Registration {
  readonly services: readonly string[];
  /** False when the engine knew the deployment from before. */
  readonly isNew: boolean;
}

interface DeploymentAnswer {
  readonly uri?: string;
  readonly services?: readonly { readonly name: string }[];
  readonly message?: string;
  readonly engine_code?: string | null;
}

/** Registers over the admin API, as anybody would. Throws with the server's own words when it refuses. */
export async function register(adminUrl: string, uri: string): Promise<Registration> {
  const response = await fetch(`${adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  const answer = (await response.json()) as DeploymentAnswer;
  if (response.ok) return { services: namesOf(answer), isNew: response.status === 201 };
  if (answer.engine_code === 'META0004') {
    return { services: namesOf(await findDeployment(adminUrl, uri)), isNew: false };
  }
  const reason = answer.message ?? `status ${response.status}`;
  throw new EngineError('unavailable', `the example deployment was not registered: ${reason}`);
}

async function findDeployment(adminUrl: string, uri: string): Promise<DeploymentAnswer> {
  const response = await fetch(`${adminUrl}/deployments`);
  const { deployments = [] } = (await response.json()) as { deployments?: DeploymentAnswer[] };
  const wanted = new URL(uri).href;
  return (
    deployments.find((each) => each.uri !== undefined && new URL(each.uri).href === wanted) ?? {}
  );
}

function namesOf({ services = [] }: DeploymentAnswer): string[] {
  return services.map(({ name }) => name);
}
