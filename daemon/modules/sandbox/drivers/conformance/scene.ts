import { newId } from '../../../../../src/kit/id.ts';
import type { ConformanceOptions } from '../conformance.ts';
import type { BoxSpec, ExecSpec, Execution, Exit, NetworkPolicy, SandboxDriver } from '../driver.ts';
import { policyOf } from '../network/policy.ts';

/** What the rules share: one driver with one running box, filled in before the first test. */
export interface Scene {
  readonly driver: SandboxDriver;
  /** The id of a running box with the default limits. Rules leave it as they found it. */
  readonly box: string;
  readonly dataDir: string;
  readonly options: ConformanceOptions;
  /** Another driver on the same place, as after a restart of the daemon. */
  readonly restart: () => Promise<SandboxDriver>;
}

/** A box as the tests make it: one core, 256 MB, no network. */
export function boxSpec(image: string, { network = 'deny', ...change }: BoxChange = {}): BoxSpec {
  return {
    id: newId('sbx'),
    image,
    env: {},
    limits: { cpu: 1, memoryMb: 256, pids: 256 },
    network: typeof network === 'string' ? policyOf(network) : network,
    ...change,
  };
}

/** What is other than usual of a box; the mode alone stands for the policy of that mode. */
export type BoxChange = Partial<Omit<BoxSpec, 'network'>> & {
  readonly network?: NetworkPolicy | NetworkPolicy['mode'];
};

/** What a finished command left. */
export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: Exit;
}

/** A command of `sh`. */
export function sh(script: string, change: Partial<ExecSpec> = {}): ExecSpec {
  return { id: newId('cmd'), argv: ['/bin/sh', '-c', script], ...change };
}

/** Reads a command to its end. */
export async function finish(execution: Execution): Promise<Result> {
  const parts: Record<'stdout' | 'stderr', Uint8Array[]> = { stdout: [], stderr: [] };
  for await (const { channel, bytes } of execution.output) parts[channel].push(bytes.slice());
  const text = (list: Uint8Array[]) => Buffer.concat(list).toString();
  return { stdout: text(parts.stdout), stderr: text(parts.stderr), exit: await execution.exited };
}

/** Runs a script in the scene's box, or in another one. */
export async function run(
  scene: Scene,
  script: string,
  change: Partial<ExecSpec> = {},
  box: string = scene.box,
): Promise<Result> {
  return finish(await scene.driver.exec(box, sh(script, change)));
}

/** Makes a box, hands it to `body` and removes it whatever happens. */
export async function withBox(
  scene: Scene,
  change: BoxChange,
  body: (id: string, spec: BoxSpec) => Promise<void>,
): Promise<void> {
  const spec = boxSpec(scene.options.image, change);
  try {
    await scene.driver.create(spec);
    await body(spec.id, spec);
  } finally {
    await scene.driver.remove(spec.id);
  }
}

/** How many processes of the box have `mark` in their command line. */
export async function countProcesses(scene: Scene, mark: string, box: string = scene.box): Promise<number> {
  const script =
    'for f in /proc/[0-9]*/cmdline; do [ "$f" = "/proc/$$/cmdline" ] || tr "\\0" " " <"$f"; echo; done 2>/dev/null';
  const { stdout } = await run(scene, script, {}, box);
  return stdout.split('\n').filter((line) => line.includes(mark)).length;
}

/** Asks again until the answer is the wanted one; the last answer otherwise. */
export async function settle<T>(ask: () => Promise<T>, wanted: T, deadlineMs = 5_000): Promise<T> {
  const end = Date.now() + deadlineMs;
  let answer = await ask();
  while (answer !== wanted && Date.now() < end) {
    await Bun.sleep(50);
    answer = await ask();
  }
  return answer;
}

/** The answer, or the word `late` when it does not come in time. */
export function within<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  return Promise.race([promise, Bun.sleep(ms).then(() => 'late' as const)]);
}
