import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BunPlugin } from 'bun';
import { formatBytes } from '../src/kit/bytes.ts';

const ROOT = join(import.meta.dir, '..');

/** Ink asks for the React developer tools, which a finished program does not carry. */
const withoutDevtools: BunPlugin = {
  name: 'without-devtools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({
      path,
      namespace: 'without-devtools',
    }));
    build.onLoad({ filter: /.*/, namespace: 'without-devtools' }, () => ({
      contents:
        'export const initialize = () => undefined; export const connectToDevTools = () => undefined; export default { initialize, connectToDevTools };',
      loader: 'js',
    }));
  },
};

/** Builds the one executable. Usage: bun cli/build.ts [--target bun-linux-arm64] [--outfile dist/svc] */
async function buildExecutable(): Promise<void> {
  const { values } = parseArgs({ options: { target: { type: 'string' }, outfile: { type: 'string' } } });
  const suffix = values.target ? `-${values.target.replace(/^bun-/, '')}` : '';
  const outfile = values.outfile ? resolve(values.outfile) : join(ROOT, `dist/svc${suffix}`);
  const start = performance.now();
  const result = await Bun.build({
    entrypoints: [join(ROOT, 'cli/main.ts')],
    compile: { outfile, ...(values.target ? { target: values.target as Bun.Build.CompileTarget } : {}) },
    minify: true,
    bytecode: true,
    format: 'esm',
    external: ['cpu-features'],
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [withoutDevtools],
  });
  if (!result.success) throw new AggregateError(result.logs, 'the build failed');
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(
    `${relative(process.cwd(), outfile)}  ${formatBytes(statSync(outfile).size)}  ${seconds} s\n`,
  );
}

await buildExecutable();
