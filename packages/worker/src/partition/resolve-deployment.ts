/** From the choice of a person to a deployment: looked up in the schema of the moment at which the command is made. */

import type {
  Deployment,
  DeploymentChoice,
  InvocationId,
  ResolvedService,
  SchemaLookup,
} from '@engine/domain';
import type { ResolvedDeployment } from '@engine/state-machine';
import { assertNever } from '@engine/stdx';
import type { StateReader } from '@engine/storage';

export interface DeploymentSources {
  /** The newest decided state: the target of an invocation never changes. */
  readonly state: Pick<StateReader, 'invocation'>;
  readonly schema: () => SchemaLookup;
}

/**
 * `fixed` finds a deployment even when it does not serve the service of the invocation: its attempts say so (RT0012). `latest`
 * of an invocation that nobody knows finds none.
 */
export function resolveDeployment(
  choice: DeploymentChoice,
  id: InvocationId,
  sources: DeploymentSources,
): ResolvedDeployment {
  switch (choice.kind) {
    case 'keep':
      return choice;
    case 'latest':
      return resolved(newestFor(id, sources)?.deployment, false);
    case 'fixed':
      return resolved(sources.schema().deployment(choice.deploymentId), true);
    default:
      return assertNever(choice);
  }
}

function newestFor(id: InvocationId, sources: DeploymentSources): ResolvedService | undefined {
  const row = sources.state.invocation(id);
  return row === undefined ? undefined : sources.schema().service(row.target.service);
}

function resolved(deployment: Deployment | undefined, isExplicit: boolean): ResolvedDeployment {
  if (deployment === undefined) return { kind: 'unknown', isExplicit };
  const { id, minProtocolVersion, maxProtocolVersion } = deployment;
  return {
    kind: 'deployment',
    isExplicit,
    deploymentId: id,
    minProtocolVersion,
    maxProtocolVersion,
  };
}
