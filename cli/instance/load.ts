import { join } from 'node:path';
import type { Config } from '../../daemon/config/config.ts';
import type { Probe } from '../../daemon/modules/sandbox/index.ts';
import type { Env } from '../context/paths.ts';

export type { Config, Resolved } from '../../daemon/config/config.ts';
export type { Setting, SettingKey } from '../../daemon/config/settings.ts';
export type { Finding, Probe } from '../../daemon/modules/sandbox/index.ts';

/**
 * The one place where the CLI reaches into the daemon, for what acts on this machine's own instance.
 * All of it is loaded when it is needed, so that other commands start fast.
 */

/** Which instance of this machine is meant. */
export interface InstanceFlags {
  readonly dataDir?: string;
  /** Path of svc.yaml when it is not in the data directory. */
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
}

/** The flags as settings of the daemon. */
export function settingFlags({ dataDir, port, host }: InstanceFlags): Record<string, unknown> {
  return { 'data.dir': dataDir, 'server.port': port, 'server.host': host };
}

/** The settings of the instance, with those that its database holds. */
export async function loadConfig(flags: InstanceFlags, env: Env): Promise<Config> {
  const [{ Config }, { readSettings }] = await Promise.all([
    import('../../daemon/config/config.ts'),
    import('../../daemon/db/settings.ts'),
  ]);
  const config = new Config({ flags: settingFlags(flags), env, file: flags.config });
  config.loadDatabaseValues(readSettings(join(config.dataDir, 'svc.db')));
  return config;
}

/** What is known of each setting, and how one is read and written. */
export async function loadSettings() {
  const [{ SETTINGS }, { parseSetting }, { writeYamlSetting }] = await Promise.all([
    import('../../daemon/config/settings.ts'),
    import('../../daemon/config/parse.ts'),
    import('../../daemon/config/file.ts'),
  ]);
  return { SETTINGS, parseSetting, writeYamlSetting };
}

/** The daemon itself. */
export async function loadServe() {
  return (await import('../../daemon/main.ts')).serve;
}

/** What sandboxes find on this host, with the driver that would be used. Nothing is left behind. */
export async function probeSandboxes(config: Config): Promise<{ driver: string; probe: Probe }> {
  const [{ objectStoreFinding, selectDriver }, { createOutbound }, { silentLog }] = await Promise.all([
    import('../../daemon/modules/sandbox/index.ts'),
    import('../../daemon/outbound/outbound.ts'),
    import('../../daemon/log/log.ts'),
  ]);
  const outbound = createOutbound(config, silentLog);
  const driver = await selectDriver({ config, log: silentLog, outbound, instance: 'doctor' });
  try {
    const probe = await driver.probe();
    const findings = [...probe.findings, objectStoreFinding()];
    return { driver: driver.name, probe: { ...probe, findings } };
  } finally {
    await driver.close();
  }
}
