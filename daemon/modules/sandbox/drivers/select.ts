import { fail } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';
import type { Log } from '../../../log/log.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { SandboxDriver } from './driver.ts';

/** What the drivers are made with. */
export interface DriverContext {
  readonly config: Config;
  readonly log: Log;
  readonly outbound: Outbound;
  /** Marks what belongs to this instance on a shared host. */
  readonly instance: string;
}

/** The driver that the configuration names; with `auto` namespace where the host can, else docker, else the one that says why not. */
export async function selectDriver(context: DriverContext): Promise<SandboxDriver> {
  const wanted = context.config.get('sandbox.driver');
  if (wanted === 'docker') return dockerDriver(context);
  if (process.platform !== 'linux') {
    if (wanted === 'namespace')
      throw fail('runtime_missing', {
        message: 'The namespace driver needs Linux. Set sandbox.driver to docker.',
      });
    return dockerDriver(context);
  }
  const namespace = await namespaceDriver(context);
  if (wanted === 'namespace' || (await namespace.probe()).usable) return namespace;
  const docker = await dockerDriver(context);
  if (!(await docker.probe()).usable) return namespace;
  await namespace.close();
  return docker;
}

async function namespaceDriver({ config, log, outbound, instance }: DriverContext): Promise<SandboxDriver> {
  const { createNamespaceDriver } = await import('./namespace/index.ts');
  return createNamespaceDriver({
    dataDir: config.dataDir,
    instance,
    warm: config.get('sandbox.warm'),
    nameServers: config.get('sandbox.name_servers'),
    log: (level, message, fields) => log[level](message, fields),
    fetch: (url, init) =>
      outbound.fetch({
        url,
        headers: init?.headers,
        signal: init?.signal,
        trust: 'operator',
        field: 'image',
      }),
  });
}

async function dockerDriver({ config, log, instance }: DriverContext): Promise<SandboxDriver> {
  const { createDockerDriver } = await import('./docker/index.ts');
  return createDockerDriver({
    dataDir: config.dataDir,
    instance,
    socketPath: config.get('sandbox.docker_socket') || undefined,
    allowUnguardedNetwork: config.get('sandbox.docker_allow_unguarded_network'),
    defaultImage: config.get('sandbox.docker_image'),
    nameServers: config.get('sandbox.name_servers'),
    log: (level, message, fields) => log[level](message, fields),
  });
}
