/** What executor and manager tell each other: one JSON object a line (RELAY.md, section 1). */
package io.tessera.executor.control;
