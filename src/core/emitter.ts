// Who wants to know? A typed list of listeners; one that throws does not keep the others from hearing.

export interface Emitter<Events extends Record<string, unknown>> {
  on<Name extends keyof Events>(name: Name, listener: (data: Events[Name]) => void): () => void;
  emit<Name extends keyof Events>(name: Name, data: Events[Name]): void;
}

export function createEmitter<Events extends Record<string, unknown>>(
  failed: (thrown: unknown) => void,
): Emitter<Events> {
  const listeners = new Map<keyof Events, Set<(data: never) => void>>();
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => void set.delete(listener);
    },
    emit(name, data) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          (listener as (data: unknown) => void)(data);
        } catch (thrown) {
          failed(thrown);
        }
      }
    },
  };
}
