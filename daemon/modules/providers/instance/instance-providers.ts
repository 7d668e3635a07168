import type { InstanceProvider } from './instance-provider.ts';

/** The providers of the instance's own configuration, in memory. */
export class InstanceProviders {
  private list: readonly InstanceProvider[];
  /** Called when one has joined. */
  onChange: () => void = () => undefined;

  constructor(
    configured: readonly InstanceProvider[],
    private readonly tenant: string,
    /** Whether tenants other than the instance's own may call them. */
    private readonly isShared: boolean,
  ) {
    this.list = configured;
  }

  /** Those that a tenant may call. */
  lentTo(tenant: string): readonly InstanceProvider[] {
    return this.isShared || tenant === this.tenant ? this.list : [];
  }

  all(): readonly InstanceProvider[] {
    return this.list;
  }

  find(name: string): InstanceProvider | undefined {
    return this.list.find((provider) => provider.name === name);
  }

  /** Adds one that was found while the instance runs, unless the configuration has its name. */
  add(provider: InstanceProvider): void {
    if (this.find(provider.name)) return;
    this.list = [...this.list, provider];
    this.onChange();
  }
}
