import { type Dataset, type KnownModel, loadDataset } from '../../../providers/index.ts';

/** What is known of models under the very names that providers list. */
export interface KnownModels {
  find(provider: string, id: string): KnownModel | undefined;
}

let loading: Promise<KnownModels> | undefined;

/** The models of the data set by name; made once, at the first list of models. */
export function knownModels(): Promise<KnownModels> {
  loading ??= loadDataset().then((dataset) => new ModelsByName(dataset));
  return loading;
}

class ModelsByName implements KnownModels {
  private readonly byProvider = new Map<string, ReadonlyMap<string, KnownModel>>();

  constructor(private readonly dataset: Dataset) {}

  find(provider: string, id: string): KnownModel | undefined {
    const known = this.byProvider.get(provider) ?? this.read(provider);
    return known?.get(id);
  }

  /** Names that tenants gave to providers of their own are not remembered. */
  private read(provider: string): ReadonlyMap<string, KnownModel> | undefined {
    const models = this.dataset.modelsOf(provider);
    if (models.length === 0) return undefined;
    const named = new Map(models.map((model) => [model.id, model]));
    this.byProvider.set(provider, named);
    return named;
  }
}
