import { parseDuration } from '../../src/kit/duration.ts';
import type { Setting } from './settings.ts';

const TRUE = ['true', '1', 'yes', 'on'];
const FALSE = ['false', '0', 'no', 'off'];

/**
 * Reads the value of a setting from what a flag, a variable, a file or a row holds.
 * Returns what is wrong as text in `problem`.
 */
export function parseSetting(setting: Setting, raw: unknown): { value: unknown } | { problem: string } {
  const parsed = PARSERS[setting.type](raw);
  if (parsed === undefined) return { problem: `must be a ${DESCRIPTIONS[setting.type]}, not ${show(raw)}` };
  if (setting.values && !setting.values.includes(String(parsed))) {
    return { problem: `must be one of ${setting.values.join(', ')}, not ${show(raw)}` };
  }
  if (typeof parsed === 'number' && setting.minimum !== undefined && parsed < setting.minimum) {
    return { problem: `must be at least ${setting.minimum}` };
  }
  if (typeof parsed === 'number' && setting.maximum !== undefined && parsed > setting.maximum) {
    return { problem: `must be at most ${setting.maximum}` };
  }
  return { value: parsed };
}

const DESCRIPTIONS: Record<Setting['type'], string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  duration: 'duration such as 30s or 1h30m',
  list: 'list (or text with commas)',
  object: 'mapping',
};

const PARSERS: Record<Setting['type'], (raw: unknown) => unknown> = {
  string: (raw) => (typeof raw === 'string' ? raw : typeof raw === 'number' ? String(raw) : undefined),
  number: parseNumber,
  integer: (raw) => {
    const value = parseNumber(raw);
    return Number.isInteger(value) ? value : undefined;
  },
  boolean: parseBoolean,
  duration: (raw) => (raw === 0 ? 0 : typeof raw === 'string' ? parseDuration(raw) : undefined),
  list: parseList,
  object: (raw) => {
    const value = typeof raw === 'string' ? parseJson(raw) : raw;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  },
};

function parseNumber(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  return typeof raw === 'string' && /^-?\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : undefined;
}

function parseBoolean(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  const text = String(raw).toLowerCase();
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined;
}

function parseList(raw: unknown): readonly string[] | undefined {
  if (Array.isArray(raw)) return raw.every((item) => typeof item === 'string') ? raw : undefined;
  if (typeof raw !== 'string') return undefined;
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function show(raw: unknown): string {
  return (JSON.stringify(raw) ?? String(raw)).slice(0, 80);
}
