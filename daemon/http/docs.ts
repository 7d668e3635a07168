import scalarPackage from '@scalar/fastify-api-reference' with { type: 'file' };
import { SPECS } from '../../src/api/endpoint.ts';
import { scriptIn } from './docs/script.ts';
import { API_VERSION } from './openapi/document.ts';

const PAGE = '/docs';
const SCRIPT = '/docs/reference.js';

/** Nothing from elsewhere, and nothing sent elsewhere: no fonts, proxies, telemetry or frames. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

/** The reader's settings: our documents to choose from, and everything off that would call out. */
const READER = {
  sources: [
    { title: 'Everything', slug: 'all', url: '/openapi.json', default: true },
    ...SPECS.map((spec) => ({ title: spec, slug: spec, url: `/openapi/${spec}.json` })),
  ],
  customCss: '',
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  orderSchemaPropertiesBy: 'preserve',
  authentication: { preferredSecurityScheme: 'ApiKey' },
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
} as const;

/** Answers the API reference and its script; undefined for any other address. Sends nothing off the machine. */
export async function docsResponse(request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  if (pathname === PAGE || pathname === `${PAGE}/`) return page();
  if (pathname === SCRIPT) return script(request);
  return undefined;
}

/** What writes the page is loaded with the first one: it brings a schema library that nothing else needs. */
async function page(): Promise<Response> {
  const { ScalarRender } = await import('@elysiajs/swagger/scalar');
  const info = { title: 'svc API reference', version: API_VERSION, description: 'The API of this instance.' };
  const html = ScalarRender(info, '', READER as Parameters<typeof ScalarRender>[2], SCRIPT);
  return new Response(asData(html), { headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8' } });
}

/** The settings travel in a script element without code: named as data, or the policy reports it as blocked. */
function asData(html: string): string {
  return html
    .replace('id="api-reference"', 'id="api-reference" type="application/json"')
    .replace('data-url="undefined"', '');
}

let compressed: Promise<Uint8Array<ArrayBuffer>> | undefined;

async function script(request: Request): Promise<Response> {
  compressed ??= compress();
  const bytes = await compressed;
  const headers = { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8', vary: 'accept-encoding' };
  if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
    return new Response(Bun.gunzipSync(bytes), { headers });
  return new Response(bytes, { headers: { ...headers, 'content-encoding': 'gzip' } });
}

/** The package is embedded as a file: its type says what importing it would give. */
async function compress(): Promise<Uint8Array<ArrayBuffer>> {
  const file = scalarPackage as unknown as string;
  return Bun.gzipSync(scriptIn(await Bun.file(file).text()));
}
