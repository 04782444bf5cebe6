import Boutique
