/** The device behind the executor: its driver, its one context, and the properties that clients get. */
package io.tessera.executor.driver;
