import type { ChatMessage } from '../../gateway/index.ts';
import type { SessionRow, TurnRow } from '../sessions/tables.ts';
import type { MessageRow } from './tables.ts';

/** What the model is told before the conversation: the agent's instructions, who it is, and what was recalled. */
export function systemPrompt({ agent }: SessionRow, recalled: string | null): string {
  const { systemPrompt, config, workingDirectory } = agent;
  const place = workingDirectory === '' ? '' : `Work in the directory ${workingDirectory}.`;
  return [systemPrompt, ...config.identity, place, recalled ?? ''].filter((text) => text !== '').join('\n\n');
}

/** The messages of a request. */
export function promptMessages(
  session: SessionRow,
  { recalled }: Pick<TurnRow, 'recalled'>,
  rows: readonly Pick<MessageRow, 'message'>[],
): ChatMessage[] {
  const system = systemPrompt(session, recalled);
  const messages = rows.map(({ message }) => message);
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages];
}
