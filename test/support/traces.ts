import Docker from 'dockerode';
import { type Traces, tracesOf } from '../../daemon/modules/sandbox/drivers/namespace/testing/traces.ts';

/** A host on which nothing of an instance is left. */
export const NOTHING: Traces & { readonly containers: number } = {
  processes: 0,
  mounts: 0,
  groups: 0,
  namespaces: 0,
  devices: 0,
  files: 0,
  containers: 0,
};

const GONE_MS = 15_000;

/** What is left of an instance's sandboxes on this host; what is removed in the background gets some time. */
export async function leftOf(driver: string, instance: string, dataDir: string): Promise<typeof NOTHING> {
  const end = Date.now() + GONE_MS;
  for (;;) {
    const containers = driver === 'docker' ? await containersOf(instance) : 0;
    const left = { ...NOTHING, ...(driver === 'namespace' ? tracesOf(instance, dataDir) : {}), containers };
    if (Object.values(left).every((count) => count === 0) || Date.now() > end) return left;
    await Bun.sleep(100);
  }
}

async function containersOf(instance: string): Promise<number> {
  const engine = new Docker({ socketPath: process.env.SVC_TEST_DOCKER_SOCKET });
  const label = `svc.instance=${instance}`;
  return (await engine.listContainers({ all: true, filters: { label: [label] } })).length;
}
