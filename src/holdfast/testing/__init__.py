"""For tests of recipes and of Holdfast itself: real servers, shipped so that recipe authors can use them too."""
