import { InvalidArgumentError } from 'commander';

/** Where a route leads to, as the API takes it. */
export interface TargetArgument {
  readonly provider: string;
  readonly model: string;
  readonly weight?: number;
}

/** Reads `PROVIDER/MODEL` or `PROVIDER/MODEL=WEIGHT`. The model may have slashes of its own. */
export function readTarget(text: string): TargetArgument {
  const [, provider, model, weight] = /^([^/=\s]+)\/([^=\s]+)(?:=(\d+))?$/.exec(text) ?? [];
  if (!provider || !model)
    throw new InvalidArgumentError('It must have the form PROVIDER/MODEL, or PROVIDER/MODEL=WEIGHT.');
  return { provider, model, ...(weight === undefined ? {} : { weight: Number(weight) }) };
}
