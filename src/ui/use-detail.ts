import { useEffect, useRef, useState } from 'preact/hooks';
import { type Read, RequestError } from './api.ts';

/** Minimum time (ms) between two reads. */
const BETWEEN = 1000;

export interface DetailState<T> {
  detail: T | undefined;
  /** Error of the last read; '' if it succeeded. */
  problem: string;
  isMissing: boolean;
  isBusy: boolean;
}

/**
 * Reads an object, and again whenever `version` changes, at most once a second: changes in between
 * are covered by the next read. Use a component for each object.
 */
export function useDetail<T>(read: Read<T>, version: string): DetailState<T> {
  const [state, setState] = useState<DetailState<T>>({
    detail: undefined,
    problem: '',
    isMissing: false,
    isBusy: true,
  });
  const last = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const ending = new AbortController();
    const wait = Math.max(0, last.current + BETWEEN - performance.now());
    const timer = setTimeout(async () => {
      last.current = performance.now();
      setState((before) => ({ ...before, isBusy: true }));
      try {
        const detail = await read(ending.signal);
        setState({ detail, problem: '', isMissing: false, isBusy: false });
      } catch (error) {
        if (ending.signal.aborted) return;
        const isMissing = error instanceof RequestError && error.code === 'not-found';
        setState(({ detail }) => ({
          detail: isMissing ? undefined : detail,
          problem: (error as Error).message,
          isMissing,
          isBusy: false,
        }));
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [version]);
  return state;
}
