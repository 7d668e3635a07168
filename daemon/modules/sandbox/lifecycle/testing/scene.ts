import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../../src/kit/time.ts';
import type { Caller } from '../../../../http/route.ts';
import { openTestApp } from '../../../../testing/app.ts';
import type { BoxSpec, Limits, SandboxDriver } from '../../drivers/driver.ts';
import { SandboxEvents } from '../../history/events.ts';
import { LifecycleService } from '../service.ts';
import { SandboxStore } from '../store.ts';

/** Who asks in these tests. */
export const caller: Caller = { tenant: 'org_a', role: 'owner', actor: 'key_1', via: 'api-key' };

const MIB = 1024 * 1024;
const image = { reference: 'host', id: 'host', env: {}, workDir: '/workspace' };
const boxOf = (id: string) => ({ id, containerId: `c-${id}`, image });

/** A host that does what it is told, until `broken` names a step that it refuses. */
export class FailingHost {
  broken: 'create' | 'start' | 'stop' | 'remove' | 'archive' | 'unarchive' | 'update' | undefined;
  readonly boxes = new Map<string, 'running' | 'stopped'>();
  /** What every box uses, in MB. */
  usedMb = 50;
  /** What every box has on the disk, in MB. */
  diskMb = 1;
  /** The limits that boxes were given while they ran. */
  readonly limits = new Map<string, Limits>();

  readonly driver = {
    name: 'namespace',
    create: async ({ id }: BoxSpec) => this.put('create', id, 'running'),
    start: async (id: string) => this.put('start', id, 'running'),
    stop: async (id: string) => void this.put('stop', id, 'stopped'),
    remove: async (id: string) => {
      this.step('remove');
      this.boxes.delete(id);
    },
    archive: async (id: string, file: string) => {
      writeFileSync(file, id);
      this.step('archive');
      return { sizeBytes: id.length };
    },
    unarchive: async ({ id }: BoxSpec, file: string) => {
      if (existsSync(file)) this.boxes.set(id, 'stopped');
      this.step('unarchive');
    },
    update: async (id: string, limits: Limits) => {
      this.step('update');
      this.limits.set(id, limits);
    },
    setNetwork: async () => {},
    stats: async () => ({ memoryBytes: this.usedMb * MIB }),
    diskUsage: async (id: string) => {
      if (!this.boxes.has(id)) throw fail('not_found', { what: 'box', id });
      return this.diskMb * MIB;
    },
    list: async () => [...this.boxes].map(([id, state]) => ({ id, containerId: `c-${id}`, state })),
  } as unknown as SandboxDriver;

  private put(step: 'create' | 'start' | 'stop', id: string, state: 'running' | 'stopped') {
    this.step(step);
    this.boxes.set(id, state);
    return boxOf(id);
  }

  private step(name: FailingHost['broken']): void {
    if (this.broken === name) throw fail('unavailable', { message: `The host could not ${name}.` });
  }
}

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  at = 1_700_000_000_000;
  now = (): number => this.at;
}

/** A lifecycle service on a host that can be broken, with room for three sandboxes. */
export function openScene(dataDir = mkdtempSync(join(tmpdir(), 'svc-lifecycle-'))) {
  const clock = new TestClock();
  const app = openTestApp(clock, { 'data.dir': dataDir, 'sandbox.max': 3 });
  const host = new FailingHost();
  const events = new SandboxEvents(app.db, clock, app.bus);
  const service = new LifecycleService(app, host.driver, new SandboxStore(app.db), events);
  return { app, host, service, events, clock, dataDir };
}
