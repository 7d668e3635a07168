/** The clients whose configuration is known. */
export type ClientName = 'claude' | 'cursor' | 'windsurf';

/** The variable that holds the key on the client's machine: no key is written into its file. */
const VARIABLE = 'SVC_API_KEY';

/** What connects a client to this service, in the words of that client's own file. */
export function clientConfig(client: ClientName, baseUrl: string) {
  const url = `${baseUrl}/mcp`;
  switch (client) {
    case 'claude':
      return servers({ type: 'http', url, headers: { 'x-svc-api-key': `\${${VARIABLE}}` } });
    case 'cursor':
      return servers({ url, headers: { 'x-svc-api-key': `\${env:${VARIABLE}}` } });
    case 'windsurf':
      return servers({ serverUrl: url, headers: { 'x-svc-api-key': `\${env:${VARIABLE}}` } });
  }
}

function servers(svc: Record<string, unknown>) {
  return { mcpServers: { svc } };
}
