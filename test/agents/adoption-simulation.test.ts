// Does one writer hold, whatever happens to hosts? Thousands of seeded stories; a failed one names its seed.
import { expect, test } from "bun:test";
import { type StoryOptions, tellAdoption } from "./adoption-story.ts";

const STORIES = Number(process.env["HOLDFAST_STORIES"] ?? 400);
const FIRST_SEED = Number(process.env["HOLDFAST_SEED"] ?? 1);

const holds = (options: StoryOptions) => () => {
  let changes = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + STORIES; seed++) {
    const { wrongs, told, ...story } = tellAdoption(seed, options);
    changes += story.changes;
    if (wrongs.length > 0) expect({ seed, wrongs, told }).toEqual({ seed, wrongs: [], told });
  }
  expect(changes).toBeGreaterThan(STORIES);
};

test(
  "[KP12] hosts killed and told to leave at any moment of their adoption: one writer, each turn whole and once",
  holds({}),
  600_000,
);
test("[KP12] the same with keepers that are killed and stopped", holds({ keepers: true }), 600_000);
test("[KP12] [SC14] the same with bad entries among the good ones", holds({ badFiles: true, keepers: true }), 600_000);
test("[KP12] [KP9] the same on a disk that fills up", holds({ disk: true }), 600_000);
test(
  "[KP12] a host that was stopped and comes back beside its successor writes nothing",
  holds({ ends: ["stopped and replaced", "killed", "told to leave"] }),
  600_000,
);
