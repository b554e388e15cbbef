/** Time, from one place. */
package io.tessera.agent.clock;
