import type { DocumentedSeries } from './documented-series.ts';
import { readSamples, type Sample } from './exposition.ts';
import { scrapeFaults } from './scrape-faults.ts';
import { until } from './until.ts';

export interface Scraper {
  scrape(): Promise<Sample[]>;
  /**
   * Waits for a scrape in which exactly these series have the name: labels and values, in any
   * order.
   */
  shows(name: string, series: readonly Record<string, string | number>[]): Promise<Sample[]>;
  /** Faults of all scrapes so far. */
  faults: string[];
  bodies: string[];
  stop(): Promise<void>;
}

/** Starts to scrape periodically, one scrape at a time: each is compared with the previous one. */
export function startScraper(
  url: string,
  told: readonly DocumentedSeries[],
  everyMs: number,
): Scraper {
  const bodies: string[] = [];
  const faults: string[] = [];
  let last: Promise<unknown> = Promise.resolve();

  async function fetchOne(): Promise<Sample[]> {
    const response = await fetch(url);
    const body = await response.text();
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body}`);
    const found = scrapeFaults(body, told, bodies.at(-1));
    bodies.push(body);
    faults.push(...found.map((fault) => `scrape ${bodies.length}: ${fault}`));
    return readSamples(body);
  }
  function scrape(): Promise<Sample[]> {
    const next = last.then(fetchOne);
    last = next.catch((error: Error) => faults.push(error.message));
    return next;
  }
  const timer = setInterval(() => void scrape().catch(() => {}), everyMs);

  return {
    scrape,
    faults,
    bodies,
    async shows(name, series) {
      const textOf = (each: object) => JSON.stringify(Object.entries(each).sort());
      const wanted = series.map(textOf).sort().join();
      let seen = '';
      const look = async () => {
        const samples = await scrape();
        seen = samples
          .filter((sample) => sample.name === name)
          .map(({ labels, value }) => textOf({ ...labels, value }))
          .sort()
          .join();
        return seen === wanted ? samples : undefined;
      };
      return until(`${name} is ${wanted}`, look).catch((error: Error) => {
        throw new Error(`${error.message}; it was ${seen}`, { cause: error });
      });
    },
    async stop() {
      clearInterval(timer);
      await last;
    },
  };
}
