import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Read } from './api.ts';

/** Answer that is read on demand. */
export interface AnswerState<T> {
  /** Last answer; it stays if a later read fails. */
  answer: T | undefined;
  /** Error of the last read; '' if it succeeded. */
  problem: string;
  isBusy: boolean;
  /** Reads, unless a read is under way. */
  refresh(): void;
}

/**
 * Returns an answer that is read when `refresh` is called, and with `atOnce` also when the
 * component is shown. Use a component for each object.
 */
export function useAnswer<T>(read: Read<T>, atOnce = false): AnswerState<T> {
  const [state, setState] = useState<Omit<AnswerState<T>, 'refresh'>>({
    answer: undefined,
    problem: '',
    isBusy: atOnce,
  });
  const running = useRef<AbortController | undefined>(undefined);
  const refresh = useCallback(() => {
    if (running.current !== undefined) return;
    const ending = new AbortController();
    running.current = ending;
    setState((last) => ({ ...last, isBusy: true }));
    read(ending.signal).then(
      (answer) => {
        running.current = undefined;
        setState({ answer, problem: '', isBusy: false });
      },
      (error: Error) => {
        if (ending.signal.aborted) return;
        running.current = undefined;
        setState((last) => ({ ...last, problem: error.message, isBusy: false }));
      },
    );
  }, []);
  useEffect(() => {
    if (atOnce) refresh();
    return () => running.current?.abort();
  }, []);
  return { ...state, refresh };
}
