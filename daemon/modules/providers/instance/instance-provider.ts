import type { Place, PlaceInput } from '../place.ts';

/** A key that the instance's configuration has. */
export interface InstanceKey {
  /** `env`, `file`, or `file.<name>` for further ones. One of a kind inside its provider. */
  readonly id: string;
  /** The variable that has it, or its name in svc.yaml. */
  readonly name: string;
  readonly secret: string;
  readonly weight: number;
}

/** A provider that the instance itself has, for every tenant. */
export interface InstanceProvider {
  readonly name: string;
  /** Where it comes from: the environment, svc.yaml, or found on this machine. */
  readonly origin: 'environment' | 'file' | 'found';
  readonly place: Place;
  /** What was said of it, before the catalog filled it in. */
  readonly said: PlaceInput;
  /** Whatever the upstream has when empty. */
  readonly models: readonly string[];
  readonly keys: readonly InstanceKey[];
}
