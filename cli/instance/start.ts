import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { system } from '../../src/api/system/system.ts';
import { createClient } from '../../src/client/client.ts';
import { fail } from '../../src/errors/app-error.ts';
import { CROWD_ENV } from './crowd-env.ts';
import type { InstanceFlags } from './load.ts';
import { type DaemonRecord, runningDaemon } from './record.ts';

const READY_WITHIN_MS = 60_000;
const POLL_MS = 25;
const LOG_LINES = 8;

/** The command that starts this program again: the executable, and its script when it runs from source. */
export function ownCommand(): string[] {
  const isCompiled = import.meta.path.startsWith('/$bunfs/');
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}

/** The log of a daemon that `svc up` started. */
export function logPath(dataDir: string): string {
  return join(dataDir, 'daemon.log');
}

/**
 * Starts `svc serve` as a process of its own and waits until it answers.
 * Errors: failed_precondition with what it said when it ended at once.
 */
export async function startDaemon(dataDir: string, flags: InstanceFlags): Promise<DaemonRecord> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = logPath(dataDir);
  const log = openSync(path, 'a', 0o600);
  const logStart = statSync(path).size;
  const child = Bun.spawn([...ownCommand(), 'serve', ...serveArguments(dataDir, flags)], {
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    env: { ...CROWD_ENV, ...process.env },
    detached: true,
  });
  child.unref();
  closeSync(log);
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw startFailure(path, logStart);
    const record = runningDaemon(dataDir);
    if (record?.pid === child.pid && (await isReady(record.url))) return record;
    await Bun.sleep(POLL_MS);
  }
  child.kill();
  throw fail('failed_precondition', {
    message: `The daemon did not answer within a minute. Its log: ${path}`,
  });
}

/** Whether a daemon answers that it is ready. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const client = createClient({ url });
    const health = await client.call(system.Healthz, {}, { signal: AbortSignal.timeout(2_000) });
    return health.status === 'ok';
  } catch {
    return false;
  }
}

function serveArguments(dataDir: string, { config, port, host }: InstanceFlags): string[] {
  return [
    '--data-dir',
    dataDir,
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(host === undefined ? [] : ['--host', host]),
  ];
}

/** What the daemon said last, without the marks of `svc serve`'s own errors. */
function startFailure(path: string, from: number): Error {
  const text = readFileSync(path).subarray(from).toString('utf8').trim();
  const lines = text.split('\n').slice(-LOG_LINES);
  const said = lines.find((line) => line.startsWith('error: '))?.slice('error: '.length);
  const message = said ?? `The daemon ended at once. Its log, ${path}, ends with:\n${lines.join('\n')}`;
  return fail('failed_precondition', { message });
}
