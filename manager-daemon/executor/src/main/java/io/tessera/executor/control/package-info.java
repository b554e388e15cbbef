/** Messages between executor and manager: one JSON object per line (RELAY.md, section 1). */
package io.tessera.executor.control;
