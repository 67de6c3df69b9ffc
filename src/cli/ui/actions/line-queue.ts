/** Maximum lines that a reader has yet to take. Older ones are dropped. */
const MOST_LINES = 500;

/** Lines of a run for one reader, which may be slow or gone: neither holds up the run. */
export interface LineQueue {
  push(line: string): void;
  /** Ends the lines with a last one. */
  end(line: string): void;
  /** Yields lines until the end. Ends early if the signal aborts. */
  read(signal: AbortSignal): AsyncGenerator<string>;
}

export function createLineQueue(): LineQueue {
  const lines: string[] = [];
  let isEnded = false;
  let wake = () => {};

  function push(line: string): void {
    if (isEnded) return;
    lines.push(line);
    if (lines.length > MOST_LINES) lines.shift();
    wake();
  }

  return {
    push,
    end(line) {
      push(line);
      isEnded = true;
      wake();
    },
    async *read(signal) {
      const aborted = () => wake();
      signal.addEventListener('abort', aborted, { once: true });
      try {
        while (!signal.aborted) {
          const line = lines.shift();
          if (line !== undefined) yield line;
          else if (isEnded) return;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        signal.removeEventListener('abort', aborted);
      }
    },
  };
}
