/** What the executor writes down for others to look at. */
package io.tessera.executor.state;
