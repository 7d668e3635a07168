import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const root = join(import.meta.dir, '..');
const files = [...new Bun.Glob('{src,daemon,cli,web,migrations}/**/*.{ts,tsx}').scanSync(root)].filter(
  (file) => !/\.test\.tsx?$|\.d\.ts$/.test(file),
);

interface Import {
  readonly from: string;
  /** A file of the project, or a package name. */
  readonly to: string;
  readonly dynamic: boolean;
}

const imports = files.flatMap((from) => importsOf(from));

/** Which top-level folders may import which. */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  src: ['src'],
  migrations: ['migrations', 'daemon'],
  daemon: ['daemon', 'src', 'migrations', 'package.json', 'web'],
  cli: ['cli', 'src', 'package.json'],
  web: ['web', 'src'],
};

/** Layers of src, lowest first: each may import itself and the ones before it. */
const LAYERS = ['kit', 'errors', 'api', 'client'];

/** Which modules of the daemon may know which others. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  auth: [],
  settings: [],
  sandbox: [],
  system: [],
  providers: ['auth', 'settings'],
  gateway: ['auth', 'settings', 'providers'],
  memory: ['gateway', 'providers'],
  mcp: ['sandbox'],
  functions: ['sandbox'],
  agents: ['gateway', 'sandbox', 'memory', 'mcp', 'functions'],
  triggers: ['agents'],
  workflows: ['agents', 'gateway', 'functions'],
  'compat-agents': ['agents'],
};

test('there is something to look at', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(imports.length).toBeGreaterThan(300);
});

test('folders import only in the directions of ARCHITECTURE.md', () => {
  const wrong = imports.filter(
    ({ from, to }) => isLocal(to) && !DIRECTIONS[top(from)]?.includes(top(to)) && !isServeDoor({ from, to }),
  );
  expect(wrong.map(show)).toEqual([]);
});

test('the CLI reaches the daemon lazily, and only from where it starts or configures one', () => {
  const doors = imports.filter(({ from, to }) => top(from) === 'cli' && top(to) === 'daemon');
  expect(
    doors
      .filter(({ dynamic }) => !dynamic)
      .filter(({ from }) => !isTypeOnly(from))
      .map(show),
  ).toEqual([]);
});

test('src is pure: it imports no runtime, no framework and no DOM library', () => {
  const wrong = imports.filter(
    ({ from, to }) => top(from) === 'src' && !isLocal(to) && !to.startsWith('@sinclair/typebox'),
  );
  expect(wrong.map(show)).toEqual([]);
});

test('the layers of src build on each other one way', () => {
  const layer = (path: string) => LAYERS.indexOf(path.split('/')[1] ?? '');
  const wrong = imports.filter(
    ({ from, to }) => top(from) === 'src' && isLocal(to) && layer(to) > layer(from),
  );
  expect(wrong.map(show)).toEqual([]);
});

describe('modules of the daemon', () => {
  const crossing = imports.filter(({ from, to }) => moduleOf(to) && moduleOf(from) !== moduleOf(to));

  test('are entered through their index only', () => {
    const wrong = crossing.filter(({ to }) => to !== `daemon/modules/${moduleOf(to)}/index.ts`);
    expect(wrong.map(show)).toEqual([]);
  });

  test('know each other one way', () => {
    const wrong = crossing.filter(
      ({ from, to }) => moduleOf(from) && !MODULES[moduleOf(from)]?.includes(moduleOf(to)),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test('are all named here', () => {
    const found = new Set(files.map(moduleOf).filter((name) => name !== ''));
    expect([...found].filter((name) => !(name in MODULES))).toEqual([]);
  });
});

test('Elysia is known to the edge alone', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      (to === 'elysia' || to.startsWith('@elysiajs/')) && !/^daemon\/http\/(mount|docs)/.test(from),
  );
  expect(wrong.map(show)).toEqual([]);
});

test('SQL is written in stores, tables, migrations and the database layer alone', () => {
  const allowed =
    /(store|tables|-store|events|migrate|open|settings|audit|idempotency|lock)\.ts$|^daemon\/(db|modules\/auth\/.*store)/;
  const wrong = imports.filter(
    ({ from, to }) => (to.startsWith('drizzle-orm') || to === 'bun:sqlite') && !allowed.test(from),
  );
  expect(wrong.map(show)).toEqual([]);
});

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/^\s*\*.*$/gm, '');
  const statics = [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+['"]([^'"]+)['"]/g)];
  const dynamics = [...text.matchAll(/import\(\s*['"]([^'"]+)['"]/g)];
  return [
    ...statics.map((match) => ({ match, dynamic: false })),
    ...dynamics.map((match) => ({ match, dynamic: true })),
  ].map(({ match, dynamic }) => ({
    from: file,
    to: resolve(file, match[1] ?? ''),
    dynamic,
  }));
}

function resolve(from: string, target: string): string {
  return target.startsWith('.') ? normalize(join(dirname(from), target)) : target;
}

function isLocal(to: string): boolean {
  return existsSync(join(root, to)) && !to.startsWith('@') && !to.startsWith('node_modules/');
}

function isServeDoor({ from, to }: { from: string; to: string }): boolean {
  return top(from) === 'cli' && top(to) === 'daemon';
}

/** A file of the CLI that imports only types of the daemon, which vanish when compiled. */
function isTypeOnly(file: string): boolean {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/import\s+(type\s)?[^;]*?from\s+'(?:\.\.\/)+daemon\/[^']+'/g)].every(
    (match) => match[1] !== undefined,
  );
}

function moduleOf(path: string): string {
  return /^daemon\/modules\/([^/]+)\//.exec(path)?.[1] ?? '';
}

function top(path: string): string {
  return path.split('/')[0] ?? '';
}

function show({ from, to }: Import): string {
  return `${relative('.', from)} -> ${to}`;
}
