import { printable } from '../../ui/table.ts';
import type { OutputStream } from '../../ui/terminal.ts';
import { openTurn, type Session } from '../session/begin.ts';
import { cut, harmless } from '../session/call-text.ts';

/** Where a session stands to which somebody comes back: its last turn that is over, and the input of one that is under way. */
export function turnLines(session: Session, { style, columns }: OutputStream): string[] {
  const { turns = [] } = session;
  const open = openTurn(session);
  const last = turns.findLast(({ completedAt }) => completedAt !== undefined);
  const earlier = turns.length - (last ? 1 : 0) - (open ? 1 : 0);
  const said = (text = '') => style.cyan(cut(`> ${harmless(text)}`, columns));
  return [
    ...(earlier > 0 ? [style.dim(`${earlier} turns before: svc session show ${session.id}`)] : []),
    ...(last ? [said(last.userInput), printable((last.error ?? last.assistantOutput ?? '').trimEnd())] : []),
    ...(open ? [said(open.userInput)] : []),
  ];
}
