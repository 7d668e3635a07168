import { type ImageFiles, type ImageRecipe, makeImage } from './image-files.ts';

/** How the registry of the tests behaves. */
export interface RegistryPlan {
  readonly image: ImageRecipe;
  /** Asks for a bearer token, for anybody or with this name and password. */
  readonly auth?: 'anonymous' | 'password';
  /** Sends readers of blobs to another host, as registries with object stores do. */
  readonly redirectBlobs?: boolean;
  /** What it does wrong: other bytes, too few, or an error in the middle. */
  readonly fault?: 'corrupt' | 'short' | 'long' | 'fail-second-layer';
}

const TOKEN = 'token-of-the-test';
const NAME = 'team/app';

/**
 * A registry that speaks the pull part of the distribution specification, as a process of its own:
 * `bun registry-server.ts '<plan as JSON>'` prints its port and what it was asked. It serves team/app:1.
 */
function serve(plan: RegistryPlan): void {
  const image = makeImage(plan.image);
  const store = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => objectStore(request, image, plan),
  });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => registry(request, image, plan, store.port ?? 0),
  });
  console.log(JSON.stringify({ port: server.port, digest: image.manifestDigest }));
}

function registry(request: Request, image: ImageFiles, plan: RegistryPlan, storePort: number): Response {
  const url = new URL(request.url);
  if (url.pathname === '/token') return token(request, url, plan);
  if (plan.auth && request.headers.get('authorization') !== `Bearer ${TOKEN}`) return challenge(url);
  const [, kind, name] = /^\/v2\/team\/app\/(manifests|blobs)\/(.+)$/.exec(url.pathname) ?? [];
  if (kind === 'manifests') return manifest(name ?? '', image);
  if (kind !== 'blobs') return new Response('{"errors":[]}', { status: 404 });
  if (!plan.redirectBlobs) return blob(name ?? '', image, plan);
  const location = `http://127.0.0.1:${storePort}/objects/${name}`;
  return new Response(null, { status: 307, headers: { location } });
}

function challenge(url: URL): Response {
  const value = `Bearer realm="${url.origin}/token",service="test",scope="repository:${NAME}:pull"`;
  return new Response('{"errors":[]}', { status: 401, headers: { 'www-authenticate': value } });
}

function token(request: Request, url: URL, plan: RegistryPlan): Response {
  const login = `Basic ${btoa('me:secret')}`;
  if (plan.auth === 'password' && request.headers.get('authorization') !== login)
    return new Response(null, { status: 401 });
  if (url.searchParams.get('scope') !== `repository:${NAME}:pull`) return new Response(null, { status: 400 });
  return Response.json({ token: TOKEN });
}

function manifest(name: string, image: ImageFiles): Response {
  const digest = name === '1' ? image.indexDigest : name;
  const bytes = image.blobs.get(digest);
  if (!bytes) return new Response('{"errors":[]}', { status: 404 });
  const { mediaType } = JSON.parse(new TextDecoder().decode(bytes)) as { mediaType: string };
  return new Response(Buffer.from(bytes), { headers: { 'content-type': mediaType } });
}

/** Another host: it must never see the token of the registry. */
function objectStore(request: Request, image: ImageFiles, plan: RegistryPlan): Response {
  if (request.headers.has('authorization')) return new Response('credential leaked', { status: 400 });
  return blob(new URL(request.url).pathname.replace('/objects/', ''), image, plan);
}

function blob(digest: string, image: ImageFiles, { fault }: RegistryPlan): Response {
  const bytes = image.blobs.get(digest);
  if (!bytes) return new Response(null, { status: 404 });
  if (!image.layerDigests.includes(digest)) return new Response(Buffer.from(bytes));
  if (fault === 'fail-second-layer' && digest === image.layerDigests[1])
    return new Response(null, { status: 500 });
  if (fault === 'short') return new Response(Buffer.from(bytes.subarray(0, bytes.length - 1)));
  if (fault === 'long') return new Response(Buffer.concat([bytes, Buffer.from('x')]));
  if (fault === 'corrupt')
    return new Response(Buffer.from(bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte))));
  return new Response(Buffer.from(bytes));
}

const plan = process.argv[2];
if (import.meta.main && plan) serve(JSON.parse(plan) as RegistryPlan);
