import type { Style } from '../../ui/color.ts';
import type { LiveLines } from '../../ui/live-screen.ts';
import { spinnerFrame } from '../../ui/progress.ts';
import { argsText, harmless } from '../session/call-text.ts';
import type { EventView } from '../session/event-view.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import type { ChatState } from './chat-state.ts';

/** What stands below a talk: what goes on, and what the line is for that is typed. */
export class ChatFooter {
  /** Ctrl-C was pressed while a turn runs. */
  isAskingLeave = false;
  /** The daemon answers. */
  isConnected = true;

  constructor(
    private readonly state: ChatState,
    private readonly view: EventView,
    private readonly desk: ApprovalDesk,
    private readonly style: Style,
  ) {}

  /** Both lines. `goesOn`: what is typed is the next line of something longer. */
  lines(goesOn: boolean): Pick<LiveLines, 'status' | 'prompt'> {
    const { style } = this;
    const [approval] = this.state.approvals;
    const prompt = goesOn
      ? style.cyan('. ')
      : approval
        ? style.yellow(this.desk.prompt(approval))
        : style.cyan('> ');
    return { status: this.status(), prompt };
  }

  private status(): string | undefined {
    const { style } = this;
    const { runningSince, approvals, options } = this.state;
    if (this.isAskingLeave)
      return style.yellow('Ctrl-C again interrupts the turn · d detaches: it goes on · any other key stays');
    if (!this.isConnected) return style.yellow('the connection is lost; connecting again');
    if (runningSince === undefined) return undefined;
    if (approvals.length > 0 || options) return style.dim('waits for you · Ctrl-C interrupts or detaches');
    return `${style.cyan(spinnerFrame(performance.now()))} ${style.dim(this.doing())}`;
  }

  private doing(): string {
    const [call] = this.view.running;
    const what = call ? `${harmless(call.name)} ${argsText(call.name, call.args)}` : this.state.doing;
    const elapsed = this.state.elapsed();
    return elapsed === '' ? what : `${what} · ${elapsed}`;
  }
}
