import type { Trust } from '../outbound/outbound.ts';

/** Where a tenant's figures go, with its secrets. */
export interface Destination {
  /** Base address: the path of the signal is added to it. */
  readonly endpoint: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the resource that everything is told of. */
  readonly labels: Readonly<Record<string, string>>;
  /** How far the address is trusted. */
  readonly trust: Trust;
}

/** The receivers that tenants have named. */
export interface Receivers {
  /** A tenant's, whether it is switched on or not; undefined when it has named none. */
  destination(tenant: string): (Destination & { readonly enabled: boolean }) | undefined;
  /** Tells a listener whose receiver was changed. */
  onChange(listener: (tenant: string) => void): void;
}
