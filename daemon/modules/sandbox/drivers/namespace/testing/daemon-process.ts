import { boxSpec, sh } from '../../conformance/scene.ts';
import { createNamespaceDriver } from '../index.ts';

/** What the process below says when it has done its work. */
export interface DaemonReport {
  readonly box: string;
  /** A background command that ends with 23 when /workspace/go is there. */
  readonly ref: string;
  readonly stopped: string;
}

/**
 * A daemon to be killed: it makes boxes, starts a background command and a foreground one, leaves a box half
 * made, and waits. `bun daemon-process.ts '{"dataDir": ..., "instance": ..., "log": ...}'`
 */
const place = JSON.parse(process.argv[2] ?? '{}') as { dataDir: string; instance: string; log: string };
const driver = await createNamespaceDriver({ ...place, warm: 2, log: () => {} });
const [box, stopped] = [boxSpec('host'), boxSpec('host')];
await driver.create(box);
await driver.create(stopped);
await driver.stop(stopped.id);
const script = 'echo begun; while [ ! -e /workspace/go ]; do sleep 0.05; done; echo done; exit 23';
const { ref } = await driver.spawn(box.id, sh(script), place.log);
await driver.exec(box.id, sh('sleep 86420'));
// The pool fills up, and one box is under way, when the end comes.
await Bun.sleep(500);
driver.create(boxSpec('host')).catch(() => {});
console.log(JSON.stringify({ box: box.id, ref, stopped: stopped.id } satisfies DaemonReport));
await Bun.sleep(3_600_000);
