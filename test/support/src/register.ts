/** Registers a deployment over the admin interface. Rejects with the server's words when it is refused. */
export async function registerDeployment(adminUrl: string, uri: string): Promise<void> {
  const response = await fetch(`${adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(`${uri} is refused: ${await response.text()}`);
}
