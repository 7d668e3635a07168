import { fail } from '../../../../src/errors/app-error.ts';

/** A ready configuration to start sandboxes from. */
export interface Template {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly icon: string;
  readonly iconColor: string;
  /** Image reference; `host` needs no download. */
  readonly image: string;
  readonly cpu: number;
  readonly memoryMb: number;
  readonly env: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
}

/** The templates of every instance (spec, Templates; node-22 is the slug that the reference shows). */
export const TEMPLATES: readonly Template[] = [
  template('host', 'Host', 'The programs of this machine, read-only, with a workspace of its own', 'host', {
    tags: ['host', 'offline'],
    icon: 'terminal',
    iconColor: '#64748b',
  }),
  template('node', 'Node.js', 'Node.js 22 with npm', 'node:22-bookworm-slim', {
    tags: ['javascript', 'typescript'],
    icon: 'nodejs',
    iconColor: '#3c873a',
    memoryMb: 1024,
  }),
  template('python', 'Python', 'Python 3.13 with pip', 'python:3.13-slim-bookworm', {
    tags: ['python'],
    icon: 'python',
    iconColor: '#3776ab',
    env: { PYTHONUNBUFFERED: '1' },
  }),
  template('go', 'Go', 'Go 1.26', 'golang:1.26-bookworm', {
    tags: ['go'],
    icon: 'go',
    iconColor: '#00add8',
    memoryMb: 1024,
  }),
  template('rust', 'Rust', 'Rust with cargo', 'rust:1-slim-bookworm', {
    tags: ['rust'],
    icon: 'rust',
    iconColor: '#b7410e',
    memoryMb: 2048,
  }),
  template('ubuntu', 'Ubuntu', 'Ubuntu 24.04', 'ubuntu:24.04', {
    tags: ['linux'],
    icon: 'ubuntu',
    iconColor: '#e95420',
  }),
];

const ALIASES: Readonly<Record<string, string>> = { 'node-22': 'node', 'python-3': 'python', nodejs: 'node' };

/** A template by slug or id. Errors: template_not_found. */
export function findTemplate(id: string): Template {
  const slug = ALIASES[id] ?? id;
  const found = TEMPLATES.find((template) => template.slug === slug);
  if (!found) throw fail('template_not_found', { id });
  return found;
}

function template(
  slug: string,
  name: string,
  description: string,
  image: string,
  more: Partial<Template>,
): Template {
  return {
    slug,
    name,
    description,
    image,
    icon: slug,
    iconColor: '#64748b',
    cpu: 1,
    memoryMb: 512,
    env: {},
    tags: [],
    ...more,
  };
}
