import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes, GIB } from '../../src/kit/bytes.ts';
import type { Env } from '../context/paths.ts';
import { type Config, type Finding, type InstanceFlags, loadConfig, probeSandboxes } from './load.ts';
import { runningDaemon } from './record.ts';

/** What was found on this host, and whether an instance can work on it. */
export interface HostReport {
  /** The sandbox driver that would be used. */
  readonly driver: string;
  /** False when the instance cannot start or sandboxes cannot be made. */
  readonly usable: boolean;
  readonly findings: readonly Finding[];
}

const LOW_DISK = 2 * GIB;

/** Looks at the host as the daemon would: port, data directory, disk, and what sandboxes need. */
export async function inspectHost(flags: InstanceFlags, env: Env): Promise<HostReport> {
  const config = await loadConfig(flags, env);
  const own = [dataFinding(config.dataDir), diskFinding(config.dataDir), await portFinding(config)];
  const { driver, probe } = await probeSandboxes(config);
  const seenByDriver = new Set(probe.findings.map(({ check }) => check));
  return {
    driver,
    usable: probe.usable && own.every(({ status }) => status !== 'missing'),
    findings: [...own.filter(({ check }) => !seenByDriver.has(check)), ...probe.findings],
  };
}

function dataFinding(dir: string): Finding {
  const nearest = nearestExisting(dir);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return { check: 'data', status: 'ok', message: `${dir} can be written` };
  } catch {
    return {
      check: 'data',
      status: 'missing',
      message: `${nearest} cannot be written; choose another: --data-dir DIR`,
    };
  }
}

function diskFinding(dir: string): Finding {
  const { bavail, bsize } = statfsSync(nearestExisting(dir));
  const free = bavail * bsize;
  return {
    check: 'disk',
    status: free < LOW_DISK ? 'degraded' : 'ok',
    message: `${formatBytes(free)} free${free < LOW_DISK ? '; images and workspaces need more' : ''}`,
  };
}

async function portFinding(config: Config): Promise<Finding> {
  const host = config.get('server.host');
  const port = config.get('server.port');
  const own = runningDaemon(config.dataDir);
  if (own && new URL(own.url).port === String(port)) {
    return { check: 'port', status: 'ok', message: `this instance listens on ${own.url}` };
  }
  try {
    Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
    return { check: 'port', status: 'ok', message: `${host}:${port} is free` };
  } catch {
    return {
      check: 'port',
      status: 'missing',
      message: `${host}:${port} is taken; choose another: --port N`,
    };
  }
}

function nearestExisting(dir: string): string {
  return existsSync(dir) ? dir : nearestExisting(dirname(dir));
}
