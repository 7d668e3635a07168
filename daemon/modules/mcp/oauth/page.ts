/** What a person sees who comes back from an authorization server. */
export function returnedPage(server: string): Response {
  const name = server.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title><p>svc may use the MCP server <b>${name}</b> now. You can close this page.</p></html>`;
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  });
}
