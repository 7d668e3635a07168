import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs the benchmarks, or those that are named: `bun run bench sandbox startup`. Each prints tables with ratios
 * and goals. A goal that is missed is no failure; a benchmark that breaks is.
 */
const BENCHMARKS = ['startup', 'sandbox', 'edge', 'gateway', 'driver-namespace', 'driver-docker'];

const root = join(import.meta.dir, '../..');
const binary = join(root, 'dist/svc');
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !BENCHMARKS.includes(name));
if (unknown) throw new Error(`There is no benchmark ${unknown}. There are ${BENCHMARKS.join(', ')}.`);

const run = (argv: string[]) =>
  Bun.spawn([process.execPath, ...argv], {
    cwd: root,
    env: { ...process.env, SVC_TEST_BINARY: binary },
    stdout: 'inherit',
    stderr: 'inherit',
  }).exited;

let broken = await run(['cli/build.ts']);
for (const name of BENCHMARKS.filter((name) => wanted.length === 0 || wanted.includes(name))) {
  const file = join(import.meta.dir, `${name}.ts`);
  if (!existsSync(file)) continue;
  process.stdout.write(`\n== ${name}\n`);
  broken += await run([file]);
}
process.exit(broken === 0 ? 0 : 1);
