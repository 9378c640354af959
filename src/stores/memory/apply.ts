/** What each kind of write does to the state. */
import type { Done, Write } from "../store.js";
import { add } from "./add.js";
import { amend } from "./amend.js";
import type { Attempt } from "./attempt.js";
import { putBlock } from "./blocks.js";
import { adopt, index } from "./embed.js";
import { endFact, noteExtracted, putFact, restoreFact } from "./facts.js";
import { forget } from "./forget.js";
import { putKey, revokeKey } from "./keys.js";
import { writeLedger } from "./ledgers.js";
import { beat, claim, release } from "./owning.js";
import { park, replay } from "./park.js";
import { promote, restorePromotion } from "./promotions.js";
import { register } from "./register.js";
import { abandonReindex, beginReindex, reindex, switchSpace } from "./reindex.js";
import { acknowledge, attach } from "./sending.js";
import type { State } from "./state.js";
import { update } from "./update.js";

/** `sliceMax`: how many items a forget, a replay or an attach takes at a time. */
export function apply(write: Write, state: State, attempt: Attempt, sliceMax: number): Done {
  switch (write.op) {
    case "add":
      return add(write, state, attempt);
    case "update":
      return update(write, state, attempt);
    case "forget":
      return forget(write, state, attempt, sliceMax);
    case "register":
      return register(write, state, attempt);
    case "amend":
      return amend(write, state, attempt);
    case "put_block":
      return putBlock(write, state, attempt);
    case "put_fact":
      return putFact(write, state, attempt);
    case "end_fact":
      return endFact(write, state, attempt);
    case "restore_fact":
      return restoreFact(write, state, attempt);
    case "extracted":
      return noteExtracted(write, state, attempt);
    case "ledger":
      return writeLedger(write, state, attempt);
    case "promote":
      return promote(write, state, attempt);
    case "restore_promotion":
      return restorePromotion(write, state, attempt);
    case "put_key":
      return putKey(write, state, attempt);
    case "revoke_key":
      return revokeKey(write, state, attempt);
    case "claim":
      return claim(write, state, attempt);
    case "beat":
      return beat(write, state, attempt);
    case "release":
      return release(write, state, attempt);
    case "index":
      return index(write, state, attempt);
    case "park":
      return park(write, state, attempt);
    case "replay":
      return replay(write, state, attempt, sliceMax);
    case "adopt":
      return adopt(write, state, attempt);
    case "attach":
      return attach(write, state, attempt, sliceMax);
    case "acknowledge":
      return acknowledge(write, state, attempt);
    case "begin_reindex":
      return beginReindex(write, state, attempt);
    case "reindex":
      return reindex(write, state, attempt);
    case "switch_space":
      return switchSpace(write, state, attempt);
    case "abandon_reindex":
      return abandonReindex(state, attempt);
  }
}
