import { describe, expect, test } from 'bun:test';
import { SPECS } from '../../src/api/endpoint.ts';
import { scriptIn } from './docs/script.ts';
import { docsResponse } from './docs.ts';

const ask = (path: string, init: RequestInit = {}) =>
  docsResponse(new Request(`http://localhost${path}`, init));

describe('the API reference', () => {
  test('is a page that loads its script and its documents from this instance', async () => {
    const html = (await (await ask('/docs'))?.text()) ?? '';
    const settings = JSON.parse(/data-configuration='([^']+)'/.exec(html)?.[1] ?? '{}');
    expect(html).toContain('<script src="/docs/reference.js"');
    expect(settings.sources.map(({ url }: { url: string }) => url)).toEqual([
      '/openapi.json',
      ...SPECS.map((spec) => `/openapi/${spec}.json`),
    ]);
    expect(html).not.toMatch(/https?:/);
  });

  test('carries no code of its own in the page', async () => {
    const html = (await (await ask('/docs/'))?.text()) ?? '';
    const scripts = [...html.matchAll(/<script\s([^>]*)>\s*<\/script>/g)].map(
      ([, attributes]) => attributes ?? '',
    );
    expect(scripts).toHaveLength(2);
    expect(scripts.filter((one) => /^src=|type="application\/json"/.test(one.trim()))).toHaveLength(2);
  });

  test.each(['/docs', '/docs/reference.js'])(
    'forbids at %s whatever comes from or goes to elsewhere',
    async (path) => {
      const policy = (await ask(path))?.headers.get('content-security-policy') ?? '';
      const sources = policy.split('; ').flatMap((directive) => directive.split(' ').slice(1));
      const local = ["'none'", "'self'", "'unsafe-inline'", 'data:', 'blob:'];
      expect(policy).toStartWith("default-src 'none'");
      expect(sources.filter((source) => !local.includes(source))).toEqual([]);
      expect(policy).toContain("script-src 'self';");
    },
  );

  test('sends its script compressed to those who take it so', async () => {
    const packed = await ask('/docs/reference.js', { headers: { 'accept-encoding': 'br, gzip' } });
    const plain = await ask('/docs/reference.js');
    expect(packed?.headers.get('content-encoding')).toBe('gzip');
    expect(plain?.headers.get('content-encoding')).toBeNull();
    const unpacked = Bun.gunzipSync((await packed?.bytes()) ?? new Uint8Array());
    expect(new TextDecoder().decode(unpacked)).toBe((await plain?.text()) ?? '');
  });

  test('has a script that is JavaScript', async () => {
    const text = (await (await ask('/docs/reference.js'))?.text()) ?? '';
    expect(text).toContain('api-reference');
    expect(() => new Bun.Transpiler({ loader: 'js' }).scan(text)).not.toThrow();
  });

  test.each(['/doc', '/docs/other.js', '/docs/../x', '/'])('leaves %s to others', async (path) => {
    expect(await ask(path)).toBeUndefined();
  });

  test('is only read', async () => {
    expect(await ask('/docs', { method: 'POST' })).toBeUndefined();
  });
});

describe('scriptIn', () => {
  test('reads the string literal back to text', () => {
    const module = 'import x from "y";\nvar standalone_default = "a\\n\\"b\\\\n\\"";\nexport { x };\n';
    expect(scriptIn(module)).toBe('a\n"b\\n"');
  });

  test('refuses a module of another form', () => {
    expect(() => scriptIn('export default 1;\n')).toThrow('another form');
  });
});
