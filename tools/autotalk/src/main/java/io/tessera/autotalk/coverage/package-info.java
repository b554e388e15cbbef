/** Publishes, as a page, how every entry of the driver is served. */
package io.tessera.autotalk.coverage;
