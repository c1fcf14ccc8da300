// The interface of Vertana's stores, as far as they use it. Written down here, since the package is
// not in the registry.
declare module "@vertana/context-memory" {
  export interface TranslationMemoryEntry {
    readonly source: string;
    readonly target: string;
    readonly sourceLanguage?: string;
    readonly targetLanguage?: string;
    readonly domain?: string;
    readonly namespace?: string;
    readonly sourceId?: string;
    readonly createdAt?: string;
    readonly notes?: string;
    readonly metadata?: Record<string, unknown>;
  }
  export interface TranslationMemoryHit {
    readonly entry: TranslationMemoryEntry;
    readonly score: number;
  }
  export interface TranslationMemoryOperationOptions {
    readonly signal?: AbortSignal;
  }
  export interface TranslationMemorySearchOptions extends TranslationMemoryOperationOptions {
    readonly sourceLanguage?: string;
    readonly targetLanguage?: string;
    readonly domain?: string;
    readonly namespace?: string;
    readonly maxHits?: number;
    readonly minScore?: number;
  }
  export interface TranslationMemoryStore {
    add(entry: TranslationMemoryEntry, options?: TranslationMemoryOperationOptions): Promise<void>;
    addMany(
      entries: readonly TranslationMemoryEntry[],
      options?: TranslationMemoryOperationOptions,
    ): Promise<void>;
    search(
      query: string,
      options?: TranslationMemorySearchOptions,
    ): Promise<readonly TranslationMemoryHit[]>;
  }
}
