import type { Violation } from '../pipeline/stages.ts';
import type { Guardrail, Subject } from './guardrail.ts';
import { withWords, wordsIn } from './words.ts';

/** No tokenizer: it takes 50 ms for 100 KB. */
const CHARS_PER_TOKEN = 4;
const ANSWER_LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** Requests that are too long, alone or with the answer that they ask for. */
export const tokenLimits: Guardrail = {
  name: 'token_limits',
  direction: 'input',
  isOn: ({ inputGuardrails }) => inputGuardrails.tokenLimits.enabled,
  async look(subject, { inputGuardrails: { tokenLimits: limits } }) {
    const { maxInputTokens, maxTotalTokens, action } = limits;
    const cuts = action === 'truncate';
    const violations: Violation[] = [];
    const note = (match: string) => violations.push({ guardrail: this.name, match, severity: 'low', action });
    let left = subject;
    if (tokensOf(left) > maxInputTokens) {
      note('max_input_tokens');
      if (cuts) left = shortened(left, maxInputTokens * CHARS_PER_TOKEN);
    }
    const room = Math.max(1, maxTotalTokens - tokensOf(left));
    const tooMuch = ANSWER_LIMITS.find((name) => typeof left[name] === 'number' && Number(left[name]) > room);
    if (tooMuch) {
      note('max_total_tokens');
      if (cuts) left = { ...left, [tooMuch]: room };
    }
    return { subject: left, violations };
  },
};

function tokensOf(subject: Subject): number {
  return Math.ceil(charsOf(subject) / CHARS_PER_TOKEN);
}

function charsOf(subject: Subject): number {
  return wordsIn(subject).reduce((sum, { text }) => sum + text.length, 0);
}

/** Without its oldest turns, as far as that is needed; then its longest texts are cut. What the system says stays as long as it can. */
function shortened(subject: Subject, most: number): Subject {
  const where = ['messages', 'input'].find((name) => Array.isArray(subject[name]));
  const fewer = where ? withoutOldest(subject, where, most) : subject;
  return cut(
    cut(fewer, most, (role) => role !== 'system' && role !== 'developer'),
    most,
    () => true,
  );
}

function withoutOldest(subject: Subject, where: string, most: number): Subject {
  const items = subject[where] as readonly unknown[];
  const told = items.findIndex((item) => !isInstruction(item));
  if (told < 0) return subject;
  const [head, turns] = [items.slice(0, told), items.slice(told)];
  const sizes = turns.map((item) => charsOf({ [where]: [item] }));
  let over = charsOf(subject) - most;
  let first = 0;
  for (const [index, size] of sizes.entries()) {
    if (isTurn(turns[index])) {
      first = index;
      if (over <= 0) break;
    }
    over -= size;
  }
  return first === 0 ? subject : { ...subject, [where]: [...head, ...turns.slice(first)] };
}

function isInstruction(item: unknown): boolean {
  const role = roleOf(item);
  return role === 'system' || role === 'developer';
}

/** Something that a user says begins a turn; results of calls belong to the calls before them. */
function isTurn(item: unknown): boolean {
  if (roleOf(item) !== 'user') return false;
  const { content } = item as { content?: unknown };
  return !(
    Array.isArray(content) &&
    content.some((part) => (part as { type?: unknown } | null)?.type === 'tool_result')
  );
}

function roleOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null ? (item as { role?: unknown }).role : undefined;
}

function cut(subject: Subject, most: number, may: (role: string) => boolean): Subject {
  const words = wordsIn(subject);
  let over = words.reduce((sum, { text }) => sum + text.length, 0) - most;
  if (over <= 0) return subject;
  const texts = words.map(({ text }) => text);
  const byLength = [...words.entries()].filter(([, { role }]) => may(role));
  byLength.sort(([, a], [, b]) => b.text.length - a.text.length);
  for (const [index, { text }] of byLength) {
    if (over <= 0) break;
    const kept = text.slice(0, Math.max(0, text.length - over)).replace(/[\ud800-\udbff]$/, '');
    over -= text.length - kept.length;
    texts[index] = kept;
  }
  return withWords(subject, texts);
}
