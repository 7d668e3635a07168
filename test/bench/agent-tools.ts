import { openToolScene, type ToolScene, testCall } from '../../daemon/modules/agents/tools/testing/scene.ts';
import type { JsonObject } from '../../daemon/modules/agents/tools/tool.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 40);
const TENANT = 'org_a';

/** Tools of agents by themselves, in a sandbox that is warm: beside them a program that is only started there. */
export async function benchAgentTools(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const scene = await openToolScene({ flags: { 'sandbox.driver': 'namespace' } });
  try {
    const call = testCall();
    await scene.run('sandbox_shell', { command: 'true' }, call);
    const sandboxId = call.events.find((event) => event.sandboxId)?.sandboxId ?? '';
    const floor = await times(() => start(scene, sandboxId));
    const content = `${'a line of text that is in a file\n'.repeat(1_000)}`;
    await scene.run('sandbox_write_file', { path: 'file.txt', content });
    const line = async (tool: string, args: (round: number) => JsonObject, goal?: (p50: number) => Goal) =>
      lineOf(tool, await times((round) => use(scene, tool, args(round))), floor, goal);
    const edits = (round: number) => ({
      path: 'edit.txt',
      oldText: `n${round}\n`,
      newText: `n${round + 1}\n`,
    });
    await scene.run('sandbox_write_file', { path: 'edit.txt', content: `n0\n${content}` });
    report.table({
      title: 'tools of agents, warm',
      columns: ['p50 ms', 'p95 ms', 'x floor'],
      lines: [
        lineOf('a program is started (floor)', floor, floor),
        await line(
          'sandbox_shell',
          () => ({ command: 'true' }),
          (p50) => atMost(p50, 15, 'ms'),
        ),
        await line(
          'sandbox_write_file',
          () => ({ path: 'file.txt', content }),
          (p50) => atMost(p50, 5, 'ms'),
        ),
        await line(
          'sandbox_read_file',
          () => ({ path: 'file.txt' }),
          (p50) => atMost(p50, 5, 'ms'),
        ),
        await line('sandbox_edit', edits, (p50) => atMost(p50, 5, 'ms')),
        await line('sandbox_grep', () => ({ pattern: 'n[0-9]+$' })),
        await line('sandbox_execute', () => ({ language: 'bash', code: 'true' })),
      ],
      notes: [
        'sandbox_shell: its command outlives the daemon, its log and its end are kept',
        'files of 32 KB',
      ],
    });
  } finally {
    await scene.close();
  }
}

async function times(work: (round: number) => Promise<void>): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await timed(() => work(round)));
  return all;
}

async function use(scene: ToolScene, tool: string, args: JsonObject): Promise<void> {
  const { ok, output } = await scene.run(tool, args);
  if (!ok) throw new Error(`${tool}: ${output}`);
}

async function start({ sandboxes }: ToolScene, sandboxId: string): Promise<void> {
  const program = await sandboxes.start(TENANT, sandboxId, ['/bin/true']);
  await program.endInput();
  for await (const _ of program.output);
  await program.exited;
}

function lineOf(
  what: string,
  all: readonly number[],
  floor: readonly number[],
  goal?: (p50: number) => Goal,
): Line {
  const p50 = median(all);
  const cells = [digits(p50), digits(quantile(all, 0.95)), digits(p50 / median(floor))];
  return { what, cells, goals: goal ? [goal(p50)] : [] };
}

if (import.meta.main) await Report.of(benchAgentTools);
