import type { Log } from '../../log/log.ts';
import type { Mailer } from '../../mail/mailer.ts';

/** A letter whose point is a link that works once. */
export interface LinkLetter {
  readonly to: string;
  readonly subject: string;
  /** The text around the link. */
  readonly lines: readonly string[];
  readonly link: string;
}

/** Brings one-time links to people: by mail, or through the log while no mail server is configured. */
export class Letters {
  constructor(
    private readonly mailer: Mailer,
    private readonly log: Log,
  ) {}

  /** Whether links travel by mail. */
  get areMailed(): boolean {
    return this.mailer.isConfigured;
  }

  /** Sends a link; answers whether it is in the mail. A mail server that fails is logged. */
  async send({ to, subject, lines, link }: LinkLetter): Promise<boolean> {
    if (!this.mailer.isConfigured) {
      this.log.announce(`${subject}, for ${to}: ${link}`);
      return false;
    }
    try {
      await this.mailer.send({ to, subject, text: [...lines, '', link, ''].join('\n') });
      return true;
    } catch (error) {
      this.log.warn('a letter could not be sent', { to, subject, error });
      return false;
    }
  }
}
