/**
 * What a call looks like when it travels: for each parameter how its value fills a 64-bit slot, and what lies behind
 * it, in which direction and how long. Joined from the description and the annotations; everything is immutable.
 */
package io.tessera.autotalk.marshal;
