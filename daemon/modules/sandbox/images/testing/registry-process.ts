import { join } from 'node:path';
import type { RegistryPlan } from './registry-server.ts';

/** A registry that runs. */
export interface RunningRegistry {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly manifestDigest: string;
  readonly stop: () => Promise<void>;
}

/** Starts a registry as a process of its own. */
export async function startRegistry(plan: RegistryPlan): Promise<RunningRegistry> {
  const program = join(import.meta.dir, 'registry-server.ts');
  const child = Bun.spawn([process.execPath, program, JSON.stringify(plan)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const { port, digest } = JSON.parse(new TextDecoder().decode(value)) as { port: number; digest: string };
  return {
    host: `127.0.0.1:${port}`,
    manifestDigest: digest,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
