import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, invalid } from '../../../src/errors/app-error.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import type { Cli } from '../../cli.ts';
import { reportFailure } from '../../failure.ts';
import { type Answer, type Asking, answerOf, costOf } from './answer.ts';
import { Conversation, type Message, questionOf } from './conversation.ts';
import { readImage } from './image.ts';
import { withNext } from './next-command.ts';
import { AnswerPrinter, summaryOf } from './printer.ts';
import { SLASH, type SlashName } from './slash.ts';
import { TypedLines } from './typed-lines.ts';

/** How a conversation begins. */
export interface Beginning extends Pick<Asking, 'temperature' | 'maxTokens'> {
  readonly model: string;
  readonly system?: string;
  /** Pictures for the first question. */
  readonly images: readonly string[];
}

/** A conversation at a terminal. */
export class ChatSession {
  private readonly talk: Conversation;
  private readonly typed = new TypedLines(() => this.interrupt());
  private images: string[];
  private answering: AbortController | undefined;
  /** One more Ctrl-C leaves. */
  private isLeaving = false;
  private exit: number = EXIT.ok;

  constructor(
    private readonly cli: Cli,
    private readonly beginning: Beginning,
  ) {
    this.talk = new Conversation(beginning.model, beginning.system);
    this.images = [...beginning.images];
  }

  /** Asks and answers until the person leaves. Returns the exit code. */
  async run(): Promise<number> {
    this.say(`${this.talk.model} · /help shows what else may be typed, Ctrl-D leaves`);
    try {
      await this.converse();
      return this.exit;
    } finally {
      this.typed.close();
    }
  }

  private async converse(): Promise<void> {
    this.prompt('');
    let begun = '';
    for await (const line of this.typed.lines()) {
      this.isLeaving = false;
      const goesOn = line.endsWith('\\');
      const text = begun + (goesOn ? `${line.slice(0, -1)}\n` : line);
      begun = goesOn ? text : '';
      if (!goesOn && !(await this.take(text))) return;
      this.prompt(begun);
    }
    this.cli.terminal.err.write('\n');
  }

  /** Whether the conversation goes on. */
  private async take(text: string): Promise<boolean> {
    this.typed.hide();
    const { model } = this.talk;
    try {
      const typed = SLASH.read(text);
      if (typed.kind === 'slash') return await this.obey(typed.name, typed.argument);
      if (typed.kind === 'unknown') {
        const meant = typed.near === undefined ? '/help shows what there is' : `did you mean /${typed.near}?`;
        this.say(`There is no /${typed.name}; ${meant}`);
      } else if (typed.text.trim() !== '') await this.ask(typed.text);
    } catch (error) {
      reportFailure(withNext(error, model), this.cli.terminal, this.cli.env);
    }
    return true;
  }

  private async ask(text: string): Promise<void> {
    const question = questionOf(text, this.images);
    const printer = new AnswerPrinter(this.cli.terminal);
    this.answering = new AbortController();
    try {
      const answer = await this.answer(question, printer, this.answering.signal);
      await printer.end();
      this.talk.add(question, answer.text);
      this.images = [];
      const { requestId } = answer;
      this.say(summaryOf(answer, await costOf(await this.cli.client(), requestId)));
    } catch (error) {
      await printer.end();
      if (!isCancelled(error)) throw error;
      this.say('stopped before the first words');
    } finally {
      this.answering = undefined;
    }
  }

  private async answer(question: Message, printer: AnswerPrinter, signal: AbortSignal): Promise<Answer> {
    const { temperature, maxTokens } = this.beginning;
    const { model } = this.talk;
    const messages = this.talk.asking(question);
    return answerOf(await this.cli.client(), { model, messages, temperature, maxTokens, signal }, printer);
  }

  private async obey(name: SlashName, argument: string): Promise<boolean> {
    switch (name) {
      case 'quit':
        return false;
      case 'help':
        for (const line of SLASH.help()) this.say(line);
        this.say(
          'A line that ends with \\ goes on in the next. Ctrl-C stops an answer, a second one leaves.',
        );
        return true;
      case 'clear':
        this.talk.clear();
        this.images = [];
        this.say('Forgotten.');
        return true;
      case 'model':
        if (argument !== '') this.talk.model = argument;
        this.say(`The model is ${this.talk.model}.`);
        return true;
      case 'system':
        this.talk.system = argument;
        this.say(
          argument === '' ? 'The model is told nothing before.' : 'The model is told that from now on.',
        );
        return true;
      case 'image':
        if (argument === '') throw invalid({ field: 'image', description: 'is missing: /image FILE' });
        this.images.push(await readImage(this.path(argument)));
        this.say('It goes with the next question.');
        return true;
      case 'save':
        await this.save(argument);
        return true;
    }
  }

  private async save(argument: string): Promise<void> {
    if (argument === '') throw invalid({ field: 'file', description: 'is missing: /save FILE' });
    const path = this.path(argument);
    const text = path.endsWith('.json') ? this.talk.toJson() : this.talk.toMarkdown();
    await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: Error & { code?: string }) => {
      const why = error.code === 'EEXIST' ? 'is there already' : `cannot be written: ${error.message}`;
      throw invalid({ field: 'file', description: `${path} ${why}` });
    });
    this.say(`Saved ${path}`);
  }

  private path(text: string): string {
    return text.startsWith('~/') ? join(this.cli.env.HOME ?? '', text.slice(2)) : text;
  }

  /** Ctrl-C: an answer is stopped, or what was typed is dropped, or else the next one leaves. */
  private interrupt(): void {
    if (this.answering && !this.answering.signal.aborted) {
      this.isLeaving = true;
      this.answering.abort();
    } else if (!this.answering && !this.typed.isEmpty) this.typed.drop();
    else if (this.isLeaving) {
      this.exit = EXIT.interrupted;
      this.cli.terminal.err.write('\n');
      this.typed.close();
    } else {
      this.isLeaving = true;
      this.cli.terminal.err.write('\n');
      this.say('Ctrl-C once more leaves.');
      this.prompt('');
    }
  }

  private prompt(begun: string): void {
    this.typed.prompt(begun === '' ? '> ' : '. ');
  }

  private say(line: string): void {
    this.cli.terminal.note(this.cli.terminal.err.style.dim(line));
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof AppError && error.code === 'cancelled';
}
