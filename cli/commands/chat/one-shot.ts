import type { Client } from '../../../src/client/client.ts';
import { fail } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { showJson } from '../../ui/show.ts';
import { type Answer, answerOf, costOf } from './answer.ts';
import { Conversation, questionOf } from './conversation.ts';
import { withNext } from './next-command.ts';
import { AnswerPrinter, summaryOf } from './printer.ts';
import type { Beginning } from './session.ts';

/** Asks one question and prints the answer as it comes, or as JSON when it is whole. Errors: RemoteError, cancelled. */
export async function askOnce(cli: Cli, beginning: Beginning, text: string, json: boolean): Promise<void> {
  const client = await cli.client();
  const printer = new AnswerPrinter(cli.terminal);
  const answer = await untilInterrupted((signal) =>
    ask(client, beginning, text, json ? SILENT : printer, signal),
  )
    .catch((error: unknown) => {
      throw withNext(error, beginning.model);
    })
    .finally(() => printer.end());
  if (json) showJson(cli, shown(answer, await costOf(client, answer.requestId)));
  else if (cli.terminal.err.isTty)
    cli.terminal.note(cli.terminal.err.style.dim(summaryOf(answer, await costOf(client, answer.requestId))));
  if (answer.isStopped) throw fail('cancelled');
}

const SILENT = { reasoning() {}, text() {} };

function ask(
  client: Client,
  { model, system, images, temperature, maxTokens }: Beginning,
  text: string,
  listener: typeof SILENT | AnswerPrinter,
  signal: AbortSignal,
): Promise<Answer> {
  const messages = new Conversation(model, system).asking(questionOf(text, images));
  return answerOf(client, { model, messages, temperature, maxTokens, signal }, listener);
}

/** Ctrl-C stops the answer, at the provider too. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once('SIGINT', leave);
  try {
    return await work(leaving.signal);
  } finally {
    process.off('SIGINT', leave);
  }
}

function shown(answer: Answer, costUsd: number | undefined) {
  const { answeredBy, text, reasoning, finishReason, usage, firstMs, totalMs, requestId } = answer;
  return {
    model: answeredBy,
    answer: text,
    reasoning: reasoning === '' ? undefined : reasoning,
    finishReason,
    stopped: answer.isStopped || undefined,
    usage: usage ?? undefined,
    costUsd,
    firstMs: firstMs && Math.round(firstMs),
    totalMs: Math.round(totalMs),
    requestId,
  };
}
