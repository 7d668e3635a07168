/** A part of a question besides its text (chat completions). */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** One message of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | Part[];
}

/** What was said to a model and by it. */
export class Conversation {
  private turns: Message[] = [];

  constructor(
    public model: string,
    /** What the model is told before everything else; empty when nothing. */
    public system = '',
  ) {}

  /** The messages that a question is asked with, itself the last. */
  asking(question: Message): Message[] {
    const system: Message[] = this.system === '' ? [] : [{ role: 'system', content: this.system }];
    return [...system, ...this.turns, question];
  }

  /** Remembers a question and what was answered. */
  add(question: Message, answer: string): void {
    this.turns.push(question, { role: 'assistant', content: answer });
  }

  /** Forgets what was said. The model and what it is told stay. */
  clear(): void {
    this.turns = [];
  }

  /** Questions that were answered. */
  get length(): number {
    return this.turns.length / 2;
  }

  /** As JSON that can be sent as `messages`. */
  toJson(): string {
    const system: Message[] = this.system === '' ? [] : [{ role: 'system', content: this.system }];
    return `${JSON.stringify({ model: this.model, messages: [...system, ...this.turns] }, null, 2)}\n`;
  }

  /** As Markdown for people. Pictures are mentioned. */
  toMarkdown(): string {
    const head = [
      `# ${this.model}`,
      ...(this.system === '' ? [] : [`> ${this.system.replaceAll('\n', '\n> ')}`]),
    ];
    const turns = this.turns.map(
      ({ role, content }) => `## ${role === 'user' ? 'Question' : 'Answer'}\n\n${textOf(content)}`,
    );
    return `${[...head, ...turns].join('\n\n')}\n`;
  }
}

/** A question of a text and pictures. */
export function questionOf(text: string, images: readonly string[]): Message {
  if (images.length === 0) return { role: 'user', content: text };
  const pictures = images.map((url): Part => ({ type: 'image_url', image_url: { url } }));
  return { role: 'user', content: text === '' ? pictures : [{ type: 'text', text }, ...pictures] };
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '*(a picture)*')).join('\n\n');
}
