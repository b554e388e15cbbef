/** Contexts and streams: the order of work, what a capture turns it into, and what waits for it. */
package io.tessera.software.driver.context;
