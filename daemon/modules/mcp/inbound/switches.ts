import { fail } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { InboundTool } from '../face.ts';
import type { SwitchStore } from './switch-store.ts';

/** Switches tools at /mcp on and off, for a tenant. */
export class Switches {
  constructor(
    private readonly app: Pick<App, 'audit' | 'db'>,
    private readonly store: SwitchStore,
    private readonly tools: () => readonly InboundTool[],
  ) {}

  /** What was switched; all else is on. */
  all(tenant: string): ReadonlyMap<string, boolean> {
    return this.store.all(tenant);
  }

  isOn(tenant: string, tool: string): boolean {
    return this.store.isOn(tenant, tool);
  }

  /** Errors: not_found when there is no such tool. */
  set({ tenant, actor }: Caller, tool: string, enabled: boolean): void {
    if (!this.tools().some(({ name }) => name === tool)) throw fail('not_found', { what: 'tool', id: tool });
    this.app.db.transaction(() => {
      this.store.set(tenant, tool, enabled);
      const details = { enabled };
      this.app.audit.record({ tenant, actor, action: 'mcp_tool.switch', target: tool, details });
    });
  }
}
