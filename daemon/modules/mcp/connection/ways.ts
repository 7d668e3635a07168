import { AppError } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Caller } from '../../../http/route.ts';
import type { Log } from '../../../log/log.ts';
import type { Outbound, Trust } from '../../../outbound/outbound.ts';
import type { OwnSandboxes } from '../../sandbox/index.ts';
import type { ServerConfig } from '../servers/config.ts';
import type { Stdio } from '../servers/stdio-config.ts';
import type { Way } from './connection.ts';
import { type Credentials, guardedFetch } from './guarded-fetch.ts';
import { ProgramTransport } from './program-transport.ts';

/** A server that is to be talked to. */
export interface Target {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  /** Another one whenever the configuration is another. */
  readonly revision: string;
  readonly config: ServerConfig;
}

/** Remembers sandboxes over a crash. */
export interface Ledger {
  add(tenant: string, key: string): void;
  remove(tenant: string, key: string): void;
}

/** What ways are made of. */
export interface WayParts {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly own: OwnSandboxes;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly trust: (tenant: string) => Trust;
  readonly credentials: (target: Target) => Credentials;
  /** The image of programs that name none. */
  readonly image: () => string;
  /** Longest silence in a call, in milliseconds. */
  readonly callTimeoutMs: () => number;
}

/** Milliseconds that a goodbye may take. */
const GOODBYE_MS = 2_000;
/** The sandbox of a program ends by itself after this, should nobody end it. */
const LIFETIME_SECONDS = DAY_MS / 1_000;
const MEMORY_MB = '1024';

/** Makes the way to a server. Errors: those of making a sandbox. */
export async function wayTo(target: Target, parts: WayParts): Promise<Way> {
  const { stdio } = target.config;
  return stdio ? programWay(target, stdio, parts) : remoteWay(target, parts);
}

async function remoteWay(target: Target, parts: WayParts): Promise<Way> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { url, transport: kind, headers } = target.config;
  const isOld = kind === 'sse';
  const fetch = guardedFetch({
    ...{ url, headers, outbound: parts.outbound, trust: parts.trust(target.tenant) },
    credentials: parts.credentials(target),
    idleTimeoutMs: isOld ? DAY_MS : parts.callTimeoutMs() + MINUTE_MS,
    listens: isOld,
  });
  if (isOld) {
    // The library that reads such a stream tells of its failure without the reason.
    let failure: Error | undefined;
    const told = (...call: Parameters<typeof fetch>) =>
      fetch(...call).catch((error: unknown) => {
        failure = error instanceof AppError ? error : undefined;
        throw error;
      });
    const transport = new SSEClientTransport(new URL(url), { fetch: told });
    return { transport, isOld, end: async () => undefined, failure: () => failure };
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch });
  const goodbye = () => transport.terminateSession().catch(() => undefined);
  return { transport, isOld, end: () => Promise.race([goodbye(), Bun.sleep(GOODBYE_MS)]) };
}

async function programWay(target: Target, stdio: Stdio, parts: WayParts): Promise<Way> {
  const { own } = parts;
  const { tenant } = target;
  const box = stdio.sandboxId === '' ? await makeSandbox(target, stdio, parts) : undefined;
  const end = async () => {
    await transport?.close();
    await box?.end();
  };
  let transport: ProgramTransport | undefined;
  try {
    const process = await own.start(tenant, box?.id ?? stdio.sandboxId, [stdio.command, ...stdio.args], {
      env: stdio.env,
      cwd: stdio.workingDir === '' ? undefined : stdio.workingDir,
    });
    const talk = new ProgramTransport(process);
    transport = talk;
    return { transport: talk, isOld: false, end, failure: () => talk.failure() };
  } catch (error) {
    await end();
    throw error;
  }
}

async function makeSandbox({ tenant, name }: Target, stdio: Stdio, { own, ledger, image, log }: WayParts) {
  const key = `mcp-${newSecret()}`;
  ledger.add(tenant, key);
  const reference = stdio.image || image() || (own.driver === 'namespace' ? 'host' : '');
  const request = {
    ...(reference === '' ? { templateId: 'node' } : { image: reference }),
    memoryMb: MEMORY_MB,
    timeoutSeconds: LIFETIME_SECONDS,
    autoDeleteAfterDays: 0,
    labels: { 'svc.mcp': name },
  };
  try {
    const id = await own.create(callerOf(tenant), request, key);
    const end = async () => {
      try {
        await own.terminate(tenant, id);
        ledger.remove(tenant, key);
      } catch (error) {
        // It stays written down, for the next start.
        log.warn('the sandbox of a tool server could not be ended', { server: name, error });
      }
    };
    return { id, end };
  } catch (error) {
    if (own.find(tenant, key) === undefined) ledger.remove(tenant, key);
    throw error;
  }
}

/** Programs belong to the tenant, not to whoever calls first. */
function callerOf(tenant: string): Caller {
  return { tenant, role: 'member', actor: 'mcp', via: 'public' };
}
