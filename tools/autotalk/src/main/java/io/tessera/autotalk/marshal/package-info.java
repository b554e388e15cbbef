/**
 * Form of a call in a message: for each parameter how its value fills a 64-bit slot, and the direction and length of the data to which it
 * refers. Joined from the description and the annotations; everything is immutable.
 */
package io.tessera.autotalk.marshal;
